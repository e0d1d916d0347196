export { withoutCommands } from './clear-control.ts';
export { hasColors } from './log.ts';
