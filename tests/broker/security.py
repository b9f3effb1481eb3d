"""Listeners that ask for a password (SASL/PLAIN), speak TLS, or both."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

PROTOCOLS = ("SASL_PLAINTEXT", "SSL", "SASL_SSL")
USER = "recollect"
PASSWORD = "only for tests"


def properties(certificate: Path) -> dict[str, str]:
    """Return the server's properties for `PROTOCOLS`; clients are to trust `certificate`."""
    keystore = certificate.with_name("keystore.pem")
    if not keystore.exists():
        _write(certificate, keystore)
    login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    return {
        "sasl.enabled.mechanisms": "PLAIN",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(keystore),
        **{
            f"listener.name.{name}.plain.sasl.jaas.config": f'{login} user_{USER}="{PASSWORD}";'
            for name in ("sasl_plaintext", "sasl_ssl")
        },
    }


def _write(certificate: Path, keystore: Path) -> None:
    """Write a self-signed certificate of 127.0.0.1, and the broker's keystore with it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=7))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public = signed.public_bytes(Encoding.PEM)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    certificate.write_bytes(public)
    keystore.write_bytes(private + public)
