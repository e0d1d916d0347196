/*
 * `node:http` without an import of it: that reads every export once, and one of them, `WebSocket`, loads the client
 * behind `fetch` with all it needs, a tenth of the work of a start.
 */
export const { createServer, IncomingMessage } = process.getBuiltinModule('node:http');
