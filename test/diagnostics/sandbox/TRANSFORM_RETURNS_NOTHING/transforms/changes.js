const STAGES = { 1: 'Qualified', 2: 'Proposal' };

export default function stage({ payload }) {
  if (payload.data.stage_id === undefined) return;
  payload.stage = STAGES[payload.data.stage_id] ?? 'unknown';
}
