#!/bin/sh
# A server of ten tools and hardly a megabyte, of which a hundred fit on any machine. It answers by
# what is in a line, without reading JSON; every text it echoes is an x.

schema='{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}'
tools='{"name":"echo","description":"Returns its text.","inputSchema":'$schema'}'
for index in 1 2 3 4 5 6 7 8 9; do
  tools=$tools',{"name":"tool_'$index'","description":"Does something else.","inputSchema":'$schema'}'
done

while read -r line; do
  case $line in
  *'"initialize"'*)
    outcome='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"tiny","version":"1.0.0"}}'
    ;;
  *'"tools/list"'*) outcome='"result":{"tools":['$tools']}' ;;
  *'"tools/call"'*) outcome='"result":{"content":[{"type":"text","text":"x"}]}' ;;
  *'"notifications/'*) continue ;;
  *) outcome='"error":{"code":-32601,"message":"Method not found"}' ;;
  esac
  id=${line##*\"id\":}
  id=${id%%[,\}]*}
  printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"','"$outcome"'}'
done
