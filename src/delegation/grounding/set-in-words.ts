import { parseExpression } from '../../pgc/analyse/algebra/expression.js';

/** Longer texts are no expression with a question around it. */
const charsMax = 2_000;
/** Words behind the beginning of an expression that are tried as its end. */
const wordsMax = 64;

const functions = /\b(?:functions?|methods?|code)\b/i;
const uncalled =
  /\b(?:dead|unused|unreachable|never called|not called|called by (?:nobody|nothing|no one))\b/i;
/** Calls are not told apart by who makes them: of sources alone the set would be another one. */
const besides = /\b(?:tests?|except|outside|from)\b/i;
const weak =
  /\b(?:security (?:weak\w*(?: (?:points?|spots?))?|findings?|issues?|problems?|holes?)|weaknesses|weak (?:points?|spots?)|vulnerabilit(?:y|ies))\b/i;
const place = /(?<![\w./-])(?:[\w.-]+\/)+[\w.-]*\w|(?<![\w./-])\w[\w-]*\.[a-z]{1,4}\b/;

/**
 * The set of the overlays, as an expression, that a question asks for: one that it writes itself; functions that nothing calls; known
 * weaknesses of a file or a folder. Undefined: the question is for a search.
 */
export function setIn(text: string): string | undefined {
  if (text.length > charsMax) return undefined;
  const written = expressionIn(text);
  if (written !== undefined) return written;
  const [path] = place.exec(text) ?? [];
  const within = path === undefined ? '' : `, path=${path}`;
  if (uncalled.test(text) && functions.test(text) && !besides.test(text))
    return `(O1[kind=function${within}] + O1[kind=method${within}]) - O3[called]`;
  return weak.test(text) && path !== undefined ? `O2[path=${path}]` : undefined;
}

/** The longest run of words that reads as one, and combines or restricts something. */
function expressionIn(text: string): string | undefined {
  const from = text.search(/[(!]*\bO[1-7]\b/);
  if (from < 0) return undefined;
  const words = text.slice(from).split(/(?<=\s)/);
  for (let end = Math.min(words.length, wordsMax); end > 0; end -= 1) {
    const tried = words
      .slice(0, end)
      .join('')
      .trim()
      .replace(/[`"'?.,;:]+$/, '');
    if (/[&|+\\[−∪∩-]/.test(tried) && isExpression(tried)) return tried;
  }
  return undefined;
}

function isExpression(text: string): boolean {
  try {
    parseExpression(text);
    return true;
  } catch {
    return false;
  }
}
