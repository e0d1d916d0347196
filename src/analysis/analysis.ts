export { adviceFor, type Advice } from './advice.ts';
export { suggestPath } from './near-paths.ts';
