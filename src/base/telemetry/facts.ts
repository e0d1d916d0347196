export { SIGNATURE_NAME } from './secret-names.ts';
export { withoutCommands } from './clear-control.ts';
