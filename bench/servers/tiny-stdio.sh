#!/bin/sh
# tiny-stdio.sh <index> [legacy|modern|silent] [file]
#
# A server of ten tools and hardly a megabyte, of which a hundred fit on any machine. It answers by
# what is in a line, without reading JSON; every text it echoes is an x. A silent one is of the older
# era and does not answer what it does not know. Each start adds a byte to the file.

era=${2:-legacy}
if [ -n "$3" ]; then printf . >>"$3"; fi

schema='{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}'
tools='{"name":"echo","description":"Returns its text.","inputSchema":'$schema'}'
for index in 1 2 3 4 5 6 7 8 9; do
  tools=$tools',{"name":"tool_'$index'","description":"Does something else.","inputSchema":'$schema'}'
done
info='{"name":"tiny","version":"1.0.0"}'
if [ "$era" = modern ]; then
  complete='"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":'$info'},'
  cached=$complete'"ttlMs":60000,"cacheScope":"public",'
fi

while read -r line; do
  case $era:$line in
  modern:*'"server/discover"'*)
    outcome='"result":{'$cached'"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}'
    ;;
  silent:*'"server/discover"'*) continue ;;
  legacy:*'"initialize"'* | silent:*'"initialize"'*)
    outcome='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":'$info'}'
    ;;
  *'"tools/list"'*) outcome='"result":{'$cached'"tools":['$tools']}' ;;
  *'"tools/call"'*) outcome='"result":{'$complete'"content":[{"type":"text","text":"x"}]}' ;;
  *'"notifications/'*) continue ;;
  *) outcome='"error":{"code":-32601,"message":"Method not found"}' ;;
  esac
  id=${line##*\"id\":}
  id=${id%%[,\}]*}
  printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"','"$outcome"'}'
done
