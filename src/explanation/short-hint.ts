import { partedHint, type EvaluationNote } from '../advice/requests.ts';

/** A hint with the sentence alone that says what to write. */
export function shortHint({ setting, text }: Pick<EvaluationNote, 'setting' | 'text'>): string {
  const [what, fix = what] = partedHint(text);
  const at = fix.search(/(?<=: )write /i);
  const short = at === -1 ? fix : fix.slice(at);
  const [first = '', ...more] = short.replace(/[.;]$/, '').split('\n');
  const line = more.length === 0 ? first : first.replace(/ so:$/, ', as sluice explain prints it');
  // A note on the request may begin with the name of a field.
  const begun = line.replace(/^(?:Write|If|To|For|Where|Set|Remove)\b/, (word) => word.toLowerCase());
  return setting === undefined ? begun : `${setting}: ${begun}`;
}
