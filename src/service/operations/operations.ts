/** What people see and do of stored work, once for all front ends. */
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
export { endOf, endsOf, findCauses, hasFailed, overview, whyQueued } from './ends.ts';
export { findWork, readRetry, RECORDS } from './lists.ts';
export { findLost, replayInto } from './replay.ts';
export {
  awaitedUntil,
  findObstacles,
  findWaits,
  obstacleTexts,
  pausableName,
  reasonsToWait,
} from './waits.ts';
