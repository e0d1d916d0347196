/** Parts of JsonLogic rules. */
import { shorten } from '../../base/document/document.ts';

export const quoteName = (text: string): string => `"${shorten(text)}"`;

/** What to do in place of a condition that compares a secret. */
export const SECRET_HINT =
  'let verify compare it, and no condition: scheme header with the header that carries it, or scheme token for Authorization: Bearer';

/** What reads a variable with a secret's name. */
const SECRET_VARIABLE =
  /"var":\[?"[^"]*(?:token|secret|secrets|password|passwd|api[-_]?key|private[-_]?key|authorization)"/i;

/** Whether a rule reads what has a secret's name: nothing that it is compared with is quoted. */
export const readsSecret = (rule: object): boolean => SECRET_VARIABLE.test(JSON.stringify(rule));
