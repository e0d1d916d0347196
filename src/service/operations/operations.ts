/** What people see and do of stored work, once for all front ends. */
export type * from './causes.ts';
export type * from './changes.ts';
export type * from './ends.ts';
export type * from './lists.ts';
export type * from './replay.ts';
export type * from './waits.ts';
export {
  answerApproval,
  changeWork,
  conversationChanges,
  planChange,
  planTexts,
  useLastChannel,
  whyNotAgain,
} from './changes.ts';
export { decidedCounter, overview } from './causes.ts';
export { endOf, endsOf, hasFailed, whyQueued } from './ends.ts';
export { findEntries, findWork, RECORDS } from './lists.ts';
export { findLost, replayInto } from './replay.ts';
export {
  awaitedUntil,
  findObstacles,
  findWaits,
  obstacleTexts,
  pausableName,
  reasonsToWait,
} from './waits.ts';
