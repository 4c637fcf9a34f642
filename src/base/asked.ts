/**
 * Whether a text asks and orders nothing, so that an index, which can only tell, can do it. Where that is not plain it does not: what
 * is not done is said, what was never done must not be called done.
 */
export function isOnlyAsked(text: string): boolean {
  const sentences = sentencesOf(text);
  return sentences.some(asks) && sentences.every((each) => asks(each) || states(each));
}

/** Words in quotes and in code are talked about. */
function sentencesOf(text: string): string[] {
  return text
    .replace(/```[\s\S]*?(?:```|$)|`[^`\n]*`|"[^"\n]*"|“[^”\n]*”/gu, ' x ')
    .split(/(?<=[.?!])\s+|\n+/)
    .map((each) => each.replace(/^\s*(?:[-*•]|\d{1,3}[.)])\s+/, '').trim())
    .filter((each) => /\p{L}/u.test(each));
}

/** A question; a wish to be told something; or the name of what can be told: `callers of x`, `nic_open call chain`. */
const question = /^(?:who|whom|whose|what|which|where|when|why|how)\b|\?\s*$/i;
const wish =
  /^(?:please\s+)?(?:list|show|find|name|tell|locate|explain|describe|trace|count|analy[sz]e|compare|summari[sz]e|give (?:me|us)|check (?:if|whether)|look (?:up|for)|search for)\b/i;
const subject =
  /^(?:all |the |every )?(?:callers?|callees|uses|usages|references|call sites|definitions?|implementations?) of\b|\bcall (?:chain|graph|tree)s?$/i;
/** An order begins with its verb, and no verb is written as names of code are. */
const codeName = /^(?=\w*(?:_|[a-z][A-Z]|\.|::|#))[\w.:#$/-]*\w(?=\s|$)/;
/** `… and fix it`: another verb with its object. */
const order =
  /(?:\band\b|\bthen\b|[,;])\s+(?:then\s+)?(?!(?:list|show|find|name|tell|locate|explain|describe|trace|count|say|what|who|which|where|when|why|how|whether|if)\b)[a-z]+\s+(?:it|them|the|a|an|this|that|these|those|its|their|each|every|any|all)\b/i;

/** `could you …?`: any request may follow. */
const plea = /(?:^|,\s*)(?:can|could|will|would)\s+you\s+/i;
/** `when it fails, restart it`: behind a condition, a verb with its object. */
const ordered =
  /^(?:if|when|where|once|after|before|since|because|as)\b[^,]*,\s*(?:(?:then|please)\s+)*(?!(?:and|or|but|is|are|does|do|did|has|have|can|will|in|on|at|of|for|from|to|by|with|as|all|what|who|which|that|list|show|find|name|tell|locate|explain|describe|trace|count|say)\b)[a-z]+\s+(?:it|them|the|a|an|this|that|these|those|its|their|each|every|any|all)\b/i;

function asks(sentence: string): boolean {
  const pleaded = plea.exec(sentence);
  if (pleaded !== null) return isWish(sentence.slice(pleaded.index + pleaded[0].length));
  return (question.test(sentence) && !ordered.test(sentence)) || isWish(sentence);
}

function isWish(said: string): boolean {
  return (wish.test(said) || subject.test(said) || codeName.test(said)) && !order.test(said);
}

/** It says how things are: it begins with what it is about, or with a condition. */
function states(sentence: string): boolean {
  if (ordered.test(sentence) || plea.test(sentence)) return false;
  return /^(?:the|a|an|it|its|this|that|these|those|there|here|in|on|at|with|without|for|from|of|by|as|if|since|because|but|so|no|some|both|only)\b/i.test(
    sentence,
  );
}
