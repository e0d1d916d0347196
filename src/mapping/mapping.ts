export type {
  Scope,
  CompiledTemplate,
  RenderTrace,
  PrintedJson,
  Unfit,
  TemplatePiece,
  ConditionTrace,
  Equality,
  CompiledCondition,
  PathSettings,
  DebounceSettings,
  DedupeSettings,
  CompiledMapping,
  ConsideredMapping,
  RoutingTable,
} from './compiled-mapping.ts';
export { TEMPLATE_KEYS } from './compiled-mapping.ts';
export { withoutMappings } from './routing/routing-table.ts';
export { compileMappings } from './compile.ts';
export type { CompiledMappings } from './compile.ts';
export type { CompileOptions, MappingEntry } from './compile-options.ts';
export { loadMappings } from './load-mappings.ts';
export { MAPPING_FILE } from './passed-over.ts';
export type { LoadedMappings } from './load-mappings.ts';
export { MAPPING_CODES } from './mapping-codes.ts';
export { MAPPING_KEYS, mappingJsonSchema } from './mapping-schema.ts';
export { accountKey } from './compile-ignored-senders.ts';
export { takesRequest } from './routing/routing-table.ts';
export { WORK_LIMITS, WorkBudget, type WorkLimits } from './work-budget.ts';
export { TRANSFORM_DEFAULTS } from './transform-ref.ts';
export { conjunctsOf, conjunctTexts } from './condition/conjuncts.ts';
export { namesRead } from './condition/names-read.ts';
export { isListOperator } from './condition/rule-lists.ts';
export { CONDITION_OPERATORS } from './condition/condition-check.ts';
export { listHelpers } from './template/template-helpers.ts';
export { templatePath } from './template/template-path.ts';
export { printedText, unfitText } from './template/unfit.ts';
export { compileReader, isReserved } from './scope.ts';
