/**
 * Limits advice to what an OpenClaw file can hold: its gateway does not start with unknown keys, and its
 * templates have paths only. All advice at such a place passes through here.
 */
import {
  mapSentence,
  printSentence,
  say,
  splitAtFix,
  type Finding,
  type Place,
  type Sentence,
} from '../../base/finding.ts';
import { GATEWAY_KEYS, MappingSchema } from '../../engine/mapping/facts.ts';

const NAMES = [...Object.keys(MappingSchema.shape).filter((key) => !GATEWAY_KEYS.has(key)), 'when', 'env'];
const OUR_KEY = new RegExp(
  String.raw`\b(?:${NAMES.join('|')}):|\b(?:write|add|put|line|in|into|by|let|of|with) (?:the )?(?:match\.|transform\.)?(?:${NAMES.join('|')})\b`,
);
const OUR_TEMPLATE = /\{\{(?:\s*(?:item|index)\b|[^{}]*[^{}\w.[\]$@-][^{}]*\}\})/;
const IN_OPENCLAW_FILE =
  / ?\b(?:in |at )(?:[\w-]+ \()?[^\s()]*openclaw\.json5?:\d+(?::\d+)?\)?(?:, beside match)?/g;

const OWN = 'in a mapping of your own';
const ELSEWHERE = say`; the gateway does not know that in openclaw.json: write it into a copy of this mapping, with another id, in hooks.mappings of a sluice.yaml with "extends: openclaw.json", whose mappings come first`;

/**
 * Changes what is to be done about something in an OpenClaw file, at a place there or at one that the sentence names.
 */
export function inOpenClawFile(sentence: Sentence, at?: Place): Sentence {
  const text = printSentence(sentence);
  const isAbout = at?.source.isOpenClaw === true || new RegExp(IN_OPENCLAW_FILE).test(text);
  if (!isAbout || !(OUR_KEY.test(text) || OUR_TEMPLATE.test(text))) return sentence;
  const { before, fix, after } = splitAtFix(sentence);
  const isLine = fix?.line !== undefined;
  const moved = (part: Sentence): Sentence =>
    mapSentence(part, (each) => each.replaceAll(IN_OPENCLAW_FILE, isLine ? '' : ` ${OWN}`));
  if (!isLine) return say`${moved(sentence)}${ELSEWHERE}`;
  return say`${moved(before)}${{ ...fix, where: OWN }}${moved(after)}${ELSEWHERE}`;
}

/** Changes the hint of a finding. A text for another file is no change of this one. */
export function findingInOpenClawFile(finding: Finding, at?: Place): Finding {
  const { hint, edit: _, ...rest } = finding;
  if (hint === undefined) return finding;
  const moved = inOpenClawFile(hint, at);
  return moved === hint ? finding : { ...rest, hint: moved };
}
