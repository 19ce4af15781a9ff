/** The JSON of a request around that of its params. `method` is one of the specification's, in need of no escapes. */
export function requestText(id: number, method: string, paramsText: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${paramsText}}`;
}
