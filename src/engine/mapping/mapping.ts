export {
  type Scope,
  type CompiledTemplate,
  type RenderTrace,
  type PrintedJson,
  type ConditionTrace,
  type PathSettings,
  type DedupeSettings,
  type StartRule,
  type ActionFilling,
  type CompiledMapping,
  type ConsideredMapping,
  type RoutingTable,
  TEMPLATE_KEYS,
  type KeptKind,
} from './compiled-mapping.ts';
export { withoutMappings, takesRequest } from './routing/routing-table.ts';
export { loadMappings, type LoadedMappings } from './load-mappings.ts';
export { MAPPING_KEYS } from './mapping-schema.ts';
export { accountKey } from './keys/routing-keys.ts';
export { listOf, withoutPayload } from './scope.ts';
export { WorkBudget, type WorkLimits } from './work-budget.ts';
export { decidingFields, type FieldsRead } from './fields-read.ts';
export { RECOVER_DEFAULTS, type RecoverSettings } from './keys/recover-settings.ts';
export { printedText } from './template/template-rendering.ts';
