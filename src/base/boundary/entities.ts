/**
 * HTML's character references as browsers read them: by number in decimal or hexadecimal, by every name the standard
 * has, the old names also without a semicolon; and as mail gateways leave them, escaped again and again
 * (`&amp;amp;lt;`). Names count in any case, because models do not mind.
 */
import { characterEntities } from 'character-entities';
import { characterEntitiesLegacy } from 'character-entities-legacy';
import { foldCodePoint, OTHER } from './fold.ts';

export interface DecodedEntity {
  readonly piece: string;
  readonly end: number;
}

const ESCAPED_AMPERSAND = /(?:amp|#0*38(?![0-9])|#x0*26(?![0-9a-f]));?/iy;
const NUMBER = /#(?:x([0-9a-f]+)|([0-9]+));?/iy;
const NAME = /[a-z][a-z0-9]{1,31}/iy;
const LONGEST_OLD_NAME = 6;

/** What browsers make of the numbers 128 to 159, which older pages wrote for characters of Windows-1252. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

const OLD_NAMES: ReadonlySet<string> = new Set(characterEntitiesLegacy.map((name) => name.toLowerCase()));
/** Characters by name in lower case, where a name differs by its letters alone the first of them. */
const BY_LOWER_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(characterEntities)
    .toReversed()
    .map(([name, characters]) => [name.toLowerCase(), characters]),
);

/** Decodes what stands behind an ampersand, from `start` on; undefined where that is no entity. */
export function decodeEntity(text: string, start: number): DecodedEntity | undefined {
  let at = start;
  for (ESCAPED_AMPERSAND.lastIndex = at; ESCAPED_AMPERSAND.test(text); ESCAPED_AMPERSAND.lastIndex = at) {
    at = ESCAPED_AMPERSAND.lastIndex;
  }
  const found = decodeNumber(text, at) ?? decodeName(text, at);
  return found ?? (at > start ? { piece: '&', end: at } : undefined);
}

function decodeNumber(text: string, at: number): DecodedEntity | undefined {
  NUMBER.lastIndex = at;
  const match = text.charAt(at) === '#' ? NUMBER.exec(text) : null;
  if (match === null) return undefined;
  const [whole, hex, decimal] = match;
  const value = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  const codePoint =
    value >= 0x80 && value <= 0x9f ? (WINDOWS_1252.codePointAt(value - 0x80) ?? value) : value;
  return { piece: value > 0x10ffff ? OTHER : foldCodePoint(codePoint), end: at + whole.length };
}

function decodeName(text: string, at: number): DecodedEntity | undefined {
  NAME.lastIndex = at;
  const name = NAME.exec(text)?.[0];
  if (name === undefined) return undefined;
  const piece = text.charAt(at + name.length) === ';' ? pieceByName(name) : undefined;
  if (piece !== undefined) return { piece, end: at + name.length + 1 };
  for (let length = Math.min(LONGEST_OLD_NAME, name.length); length > 1; length -= 1) {
    const old = name.slice(0, length).toLowerCase();
    const found = OLD_NAMES.has(old) ? pieceByName(name.slice(0, length)) : undefined;
    if (found !== undefined) return { piece: found, end: at + length };
  }
  return undefined;
}

/** Undefined for a name whose characters can be no part of a marker or of a token. */
function pieceByName(name: string): string | undefined {
  const characters = Object.hasOwn(characterEntities, name)
    ? characterEntities[name]
    : BY_LOWER_NAME.get(name.toLowerCase());
  if (characters === undefined) return undefined;
  let piece = PIECES.get(characters);
  if (piece === undefined) PIECES.set(characters, (piece = foldCharacters(characters)));
  return piece !== '' && piece.replaceAll(OTHER, '') === '' ? undefined : piece;
}

/** By the characters of names that were decoded before, of which there are two thousand. */
const PIECES = new Map<string, string>();

function foldCharacters(characters: string): string {
  const pieces = Array.from(characters, (one) => foldCodePoint(one.codePointAt(0) ?? 0));
  return pieces.join('').replaceAll(/ +/g, ' ');
}
