import { listHelpers } from '../../mapping/mapping.ts';

const TODAY = '{{date now "yyyy-MM-dd"}}';
/** Names for the present day or time that other tools have. */
const PRESENT: readonly string[] = ['today', 'timestamp', 'datetime', 'current_date', 'currentDate'];

/**
 * Of a name that printed nothing and is that of a helper: alone it is a field of the payload. Continues "the request
 * has …".
 */
export function loneHelper(name: string): string | undefined {
  const usage = name === 'date' ? TODAY : listHelpers().find((helper) => helper.name === name)?.usage;
  if (usage === undefined) return undefined;
  return `no field ${name}, and a name alone is always a field: to call the helper write ${usage}`;
}

/** Of a name for the present day that printed nothing. */
export function presentTime(name: string): string | undefined {
  return PRESENT.includes(name)
    ? `no field ${name}; the day of the request is ${TODAY}, its time {{now}}`
    : undefined;
}
