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
export { createGoldenEngine } from './golden-engine.ts';
export { type Mutant, mutantsOf } from './mutants.ts';
export { caseOfRequest, compareOutcomes, formatImpact, type ImpactReport } from './impact.ts';
export { caseFileOf, maskProblem, recordCase, type RecordOptions, sampleOf } from './record.ts';
export { explainFailure, formatReport, REPORTERS, type ReporterName } from './reporters.ts';
export {
  applyPolicy,
  hasFailed,
  isCi,
  runCase,
  runCases,
  type CaseResult,
  type GoldenEngine,
  type RunReport,
  type UpdatePolicy,
} from './run-cases.ts';
export { findInSamples, findSamples, sampleFolders, samplesSay } from './samples.ts';
