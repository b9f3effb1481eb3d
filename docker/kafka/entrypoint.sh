#!/bin/sh
# Starts the broker, formatting an empty data directory first. As in the image apache/kafka,
# the variable KAFKA_SOME_SETTING is the property some.setting, KAFKA_HEAP_OPTS goes to Java,
# and CLUSTER_ID names the cluster (default: drawn).
set -eu
properties=/tmp/server.properties
env | awk '/^KAFKA_/ && !/^KAFKA_HEAP_OPTS=/ {
    name = tolower(substr($0, 7, index($0, "=") - 7))
    gsub("_", ".", name)
    print name substr($0, index($0, "="))
}' >"$properties"

# Several words on purpose.
# shellcheck disable=SC2086
set -- java ${KAFKA_HEAP_OPTS:--Xmx512m} -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
    -cp '/opt/kafka/libs/*'
if [ ! -e "$KAFKA_LOG_DIRS/meta.properties" ]; then
    # 16 bytes in base 64, without the characters that a command line or a file name minds.
    drawn=$(head --bytes 16 /dev/urandom | base64 | tr '+/' 'ab' | tr --delete '=')
    "$@" kafka.tools.StorageTool format --cluster-id "${CLUSTER_ID:-$drawn}" --config "$properties"
fi
exec "$@" kafka.Kafka "$properties"
