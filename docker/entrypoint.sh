#!/bin/sh
# Runs a command of recollect; what runs for long gets its home made on the first start.
set -eu
case ${1:-} in
    worker | replica | serve | mcp)
        if [ ! -e "$RECOLLECT_HOME/home.json" ]; then
            # Several words on purpose. Standard output belongs to the command.
            # shellcheck disable=SC2086
            recollect init $RECOLLECT_INIT_ARGS >&2
        fi
        # The health check must not take the last run's sign of life for this one's.
        rm -f "$RECOLLECT_HOME/heartbeat"
        ;;
esac
exec recollect "$@"
