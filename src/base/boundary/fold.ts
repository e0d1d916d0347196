/**
 * What a code point stands for when only its look counts: a *piece* of ASCII, mostly one character. Invisible
 * characters are nothing, compatibility forms and look-alikes are what they look like, letters are lower case, `l` and
 * `1` are `i`, `0` is `o`, white space and the blank sign of Braille are a space. What resembles nothing here is `OTHER`.
 *
 * A fold is worked out once for each page of 256 code points and looked up from then on, so that text outside ASCII
 * costs what ASCII costs. The table is a constant; only its filling is put off.
 */
/** A character that cannot matter; no fold of ASCII gives it. */
export const OTHER = '\x7f';

const PAGES: (readonly string[] | undefined)[] = [];

const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{M}]$/u;
const MARKS = /\p{M}/gu;
/** A sign to Unicode, and blank to whoever looks. */
const BRAILLE_BLANK = 0x2800;

/** What a code point is folded to: at most four characters, or none. */
export function foldCodePoint(codePoint: number): string {
  const page = (PAGES[codePoint >> 8] ??= foldPage(codePoint >> 8));
  return page[codePoint & 0xff] ?? '';
}

function foldPage(number: number): readonly string[] {
  return Array.from({ length: 256 }, (_, low) => computeFold((number << 8) | low));
}

/** A folded word without what may stand between its letters. */
export function squeeze(word: string): string {
  return word.replaceAll(/[ _.-]/g, '');
}

export function foldWord(word: string): string {
  return squeeze(Array.from(word, (character) => foldAscii(character.charCodeAt(0))).join(''));
}

function computeFold(codePoint: number): string {
  if (codePoint < 128) return foldAscii(codePoint);
  // Han and Hangul resemble nothing.
  if ((codePoint >= 0x3400 && codePoint <= 0x9fff) || (codePoint >= 0xac00 && codePoint <= 0xd7ff)) {
    return OTHER;
  }
  // A surrogate without its other half, and U+FFFD, which it becomes in UTF-8, are no character of a word.
  if ((codePoint >= 0xd800 && codePoint <= 0xdfff) || codePoint === 0xfffd) return '';
  if (codePoint === BRAILLE_BLANK) return ' ';
  const character = String.fromCodePoint(codePoint);
  const known = CONFUSABLES.get(character);
  if (known !== undefined) return foldText(known);
  if (INVISIBLE.test(character)) return '';
  if (/\s/.test(character)) return ' ';
  const plain = character.normalize('NFKD').replace(MARKS, '');
  if (plain === character || plain.length > 4) return lookAlike(character);
  const piece = Array.from(plain, lookAlike).join('');
  return piece.trim() === '' && piece !== '' ? ' ' : piece;
}

function lookAlike(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 128) return foldAscii(code);
  return foldText(CONFUSABLES.get(character) ?? CONFUSABLES.get(character.toLowerCase()) ?? OTHER);
}

/** Pieces of the look-alikes are ASCII; those for `l` are written as what they are folded to. */
function foldText(piece: string): string {
  return piece === OTHER ? OTHER : Array.from(piece, (one) => foldAscii(one.charCodeAt(0))).join('');
}

function foldAscii(code: number): string {
  if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) return ' ';
  if (code < 0x20 || code === 0x7f) return '';
  const character = String.fromCharCode(code).toLowerCase();
  if (character === 'l' || character === '1') return 'i';
  return character === '0' ? 'o' : character;
}

/** What may stand between the letters of a word, and between words. */
export const GAP = '[ _.\\-]{0,4}';

/** A pattern for a word whose letters stand apart. */
export function spaced(word: string): string {
  return foldWord(word).split('').join(GAP);
}

/** Letters that look like a Latin one and that NFKD leaves alone; upper case where only that form looks alike. */
const LETTERS: Readonly<Record<string, string>> = {
  a: 'аАαΑɑᴀᎪᗅꓮ',
  b: 'вВЬьΒƅʙᏴᗷꓐ',
  c: 'сСϲϹᴄᏟꓚ',
  d: 'ԁԀᴅᎠꓓɗժ',
  e: 'еЕєЄεΕҽᴇᎬꓰɛ℮',
  f: 'ғϜꜰꓝƒ',
  g: 'ɡԍԌɢᏀꓖց',
  h: 'һҺнНΗʜᎻꓧհ',
  i: 'іІιΙıɩɪᎥӀӏʟᏞꓡłŁլ',
  j: 'јЈϳͿᴊᎫꓙ',
  k: 'кКκΚᴋᏦꓗ',
  m: 'мМΜᴍᎷꓟ',
  n: 'пΝηոɴꓠ',
  o: 'оОοΟσᴏօꓳøØө',
  p: 'рРρΡᴘᏢꓑ',
  q: 'ԛԚզ',
  r: 'гᴦʀᎡꓣꭇ',
  s: 'ѕЅꜱᏚꓢʂ',
  t: 'тТτΤᴛᎢꓔŧŦ',
  u: 'υսՍᴜꓴ',
  v: 'νѵѴᴠᏙꓦ',
  w: 'ԝԜωᴡᎳꓪѡѠ',
  x: 'хХχΧꓫ×',
  y: 'уУΥγʏᎽꓬүҮ',
  z: 'ᴢΖᏃꓜʐ',
};

/** Characters that look like a piece of a marker or of a control token. Double and triple brackets count as several. */
const PIECE_LOOKS: Readonly<Record<string, string>> = {
  '<': '‹〈⟨❮❬❰⧼ᐸᚲ˂⦑≺˱𝈶︿',
  '<<': '«《⟪≪⪡︽',
  '<<<': '⋘',
  '>': '›〉⟩❯❭❱⧽ᐳ˃⦒≻˲𝈷﹀',
  '>>': '»》⟫≫⪢︾',
  '>>>': '⋙',
  '[': '〔【〚⟦❲⁅⦋',
  ']': '〕】〛⟧❳⁆⦌',
  '|': '∣❘ǀ│¦‖▏⎮┃',
  '/': '⁄∕╱⧸⟋',
  _: '▁ˍ',
  '-': '‐‑‒–—―−',
};

/** Every look-alike with what it stands for in a skeleton. */
const CONFUSABLES: ReadonlyMap<string, string> = buildConfusables();

function buildConfusables(): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const [ascii, lookAlikes] of [...Object.entries(LETTERS), ...Object.entries(PIECE_LOOKS)]) {
    for (const character of lookAlikes) map.set(character, ascii);
  }
  // Lower case forms of what looks alike in upper case only count where no other letter claims them.
  for (const [character, ascii] of Array.from(map)) {
    const lower = character.toLowerCase();
    if (!map.has(lower)) map.set(lower, ascii);
  }
  return map;
}
