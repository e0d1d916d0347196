export { withoutCommands } from './clear-control.ts';
