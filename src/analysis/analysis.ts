export { adviceFor, type Advice } from './advice.ts';
export { createDecisionAdvisor, type DecisionAdvice } from './decision-advice.ts';
export { suggestPath } from './near-paths.ts';
