/** What advice, explanation and editor read of mappings, beside what the engine needs. At most 40 names. */
import type { MappingSubject } from './compile-mapping.ts';
import type { MappingsSubject } from './compile.ts';
import type { ConditionSubject } from './keys/routing-keys.ts';
import type { TemplateSubject } from './template/template-subject.ts';

export type { HelperProblem, MappingFacts, RuleFacts } from './finding-facts.ts';
export type { ConditionSubject, MappingSubject, MappingsSubject, TemplateSubject };
export { BLOCK_HELPERS, HELPERS, type Helper, listHelpers } from './template/template-helpers.ts';

export {
  hasDefault,
  isListOperator,
  nameOfVariable,
  operationOf,
  operationProblem,
  OPERATORS,
  type RuleOperation,
} from './condition/condition-check.ts';
export { GATEWAY_KEYS, templateKeys } from './check-keys.ts';
export { quote } from './reporter.ts';
export { MappingSchema, mappingJsonSchema, PATH_KEYS } from './mapping-schema.ts';
export { canonicalPath, compileReader, isReserved } from './scope.ts';
export { unknownKeys } from './check-keys.ts';

/** What mapping files give to look at, by kind; what is in order, too. */
export interface MappingSubjects {
  readonly mapping: MappingSubject;
  readonly mappings: MappingsSubject;
  readonly template: TemplateSubject;
  readonly condition: ConditionSubject;
}
export { MAPPING_FILE } from './load-mappings.ts';
export { WORK_LIMITS } from './work-budget.ts';
export { TRANSFORM_DEFAULTS } from './keys/agent-keys.ts';
export { conjunctsOf, namesRead } from './condition/condition-check.ts';
export { templatePath } from './template/template-rendering.ts';
export { TRUSTED_KEYS } from './keys/delivery-keys.ts';
