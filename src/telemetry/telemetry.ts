export { clearControl } from './clear-control.ts';
