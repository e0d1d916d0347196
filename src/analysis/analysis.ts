export { adviceFor, type Advice } from './advice.ts';
export { findNearNames, type NearName } from './near-names.ts';
export { suggestPath } from './near-paths.ts';
