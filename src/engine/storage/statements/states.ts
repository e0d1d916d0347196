/** States of a run in the order of its life; a range of them is one comparison in an index. */
export const RUN = { blocked: 0, ready: 1, waiting: 2, active: 3, completed: 4, dead: 5 } as const;
/** A run that ended badly and was not dropped; the index `runs_failed` has these words. */
export const FAILED_RUN = `state = ${RUN.completed} AND kind = 'hook' AND outcome IN ('error', 'timeout') AND error_code <> 'dropped'`;
/** The `gather_key` of a waiting run that somebody is asked about: keys of events begin with `=` or `#`. */
export const ASKING = 'approval';
export const IS_NOT_ASKING = `(gather_key IS NULL OR gather_key <> '${ASKING}')`;
/** States of an outbox entry. */
export const OUTBOX = { queued: 0, active: 1, completed: 2, skipped: 3, dead: 4 } as const;
/** States of a system event. */
export const EVENT = { pending: 0, claimed: 1, consumed: 2, dead: 3 } as const;
