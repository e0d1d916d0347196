const PATH = String.raw`(?:\{\{\s*|\$\{\{\s*)?\$?\.?([\w-]+(?:\.[\w-]+)*)(?:\s*\}\})?`;
const CONSTANT = String.raw`(?:"([^"]*)"|'([^']*)'|(-?\d+(?:\.\d+)?|true|false)|([\w./-]+))`;
const EXPRESSION = new RegExp(
  String.raw`^${PATH}\s*(===?|!==?|>=?|<=?|=|\bcontains\b|\bin\b|\bis\b)\s*${CONSTANT}$`,
);

/** A comparison as other tools write it, in JsonLogic: `action == "opened"`. Undefined where it is none. */
export function meantRule(text: string): string | undefined {
  const [, name = '', sign = '', double, single, bare, word] = EXPRESSION.exec(text.trim()) ?? [];
  if (name === '') return undefined;
  const constant = bare ?? JSON.stringify(double ?? single ?? word ?? '');
  if (sign === 'contains') return `{"in": [${constant}, {"var": "${name}"}]}`;
  const operator = { '=': '===', '==': '===', is: '===', '!=': '!==' }[sign] ?? sign;
  return sign === 'in' ? undefined : `{"${operator}": [{"var": "${name}"}, ${constant}]}`;
}
