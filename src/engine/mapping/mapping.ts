export type {
  Scope,
  CompiledTemplate,
  RenderTrace,
  PrintedJson,
  ConditionTrace,
  PathSettings,
  DedupeSettings,
  StartRule,
  ActionFilling,
  CompiledMapping,
  ConsideredMapping,
  RoutingTable,
} from './compiled-mapping.ts';
export { TEMPLATE_KEYS } from './compiled-mapping.ts';
export { withoutMappings } from './routing/routing-table.ts';
export { loadMappings } from './load-mappings.ts';
export type { LoadedMappings } from './load-mappings.ts';
export { MAPPING_KEYS } from './mapping-schema.ts';
export { accountKey } from './keys/routing-keys.ts';
export { listOf, withoutPayload } from './scope.ts';
export { takesRequest } from './routing/routing-table.ts';
export { WorkBudget, type WorkLimits } from './work-budget.ts';
export { decidingFields, type FieldsRead } from './fields-read.ts';
export type { KeptKind } from './compiled-mapping.ts';
export { RECOVER_DEFAULTS, type RecoverSettings } from './keys/recover-settings.ts';
export { printedText } from './template/template-rendering.ts';
