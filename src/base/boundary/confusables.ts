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
const PIECES: Readonly<Record<string, string>> = {
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
export const CONFUSABLES: ReadonlyMap<string, string> = buildConfusables();

function buildConfusables(): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const [ascii, lookAlikes] of [...Object.entries(LETTERS), ...Object.entries(PIECES)]) {
    for (const character of lookAlikes) map.set(character, ascii);
  }
  // Lower case forms of what looks alike in upper case only count where no other letter claims them.
  for (const [character, ascii] of Array.from(map)) {
    const lower = character.toLowerCase();
    if (!map.has(lower)) map.set(lower, ascii);
  }
  return map;
}
