export { clearControl } from './clear-control.ts';
export { createLogger } from './log.ts';
export type { Log, LogFields, LogLevel, LogOptions } from './log.ts';
export { SECRET_KEY } from './redact.ts';
