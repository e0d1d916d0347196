export {
  findCases,
  readRequestFile,
  requestFileSchema,
  type DeliveryRequest,
  type FoundCases,
  type GoldenCase,
} from './case-file.ts';
export {
  collectCoverage,
  COVERAGE_FORMS,
  formatCoverage,
  isBelow,
  type Coverage,
  type CoverageForm,
} from './collect-coverage.ts';
export type { AcceptedAs } from './expectation.ts';
export { createGoldenEngine } from './golden-engine.ts';
export { caseOfRequest, compareOutcomes, formatImpact, type ImpactReport } from './impact.ts';
export { caseFileOf, caseGroup, maskProblem, recordCase, type RecordOptions } from './record.ts';
export { explainFailure, formatReport, REPORTERS, type ReporterName } from './reporters.ts';
export {
  applyPolicy,
  hasFailed,
  isCi,
  runCase,
  runCases,
  type Acceptor,
  type CaseResult,
  type GoldenEngine,
  type RunReport,
  type UpdatePolicy,
} from './run-cases.ts';
