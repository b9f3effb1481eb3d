# Sourced while the image is built: makes pip and the model hub's client trust docker/ca.crt.
if [ -f ca.crt ]; then
    export PIP_CERT="$PWD/ca.crt" SSL_CERT_FILE="$PWD/ca.crt"
fi
