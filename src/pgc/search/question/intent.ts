/** What kinds of questions there are. */
export const intentNames = [
  'symptom',
  'implementations',
  'impact',
  'decision',
  'definition',
  'usage',
  'mechanism',
  'location',
  'comparison',
  'general',
] as const;
export type Intent = (typeof intentNames)[number];
/** What may be asked of a symbol. */
export type Asked = 'callers' | 'callees' | 'chain' | 'implementations';

/** The verb says that there are several, or that they replace something: `which … exist`, `what … implements`. */
const several =
  /\b(?:which|what)\b(?!\s(?:is|are|does|do)\b)[^.?!;:]{0,120}\b(?:exists?|(?:are|is) there|(?:are|is) built in|comes? with|does\b.{0,40}\bhave)\b|\b(?:which|what)\b[^.?!;:]{0,120}\b(?:implements?|overrides?|extends?|subclass(?:es)?)\b/i;
/** It begins the question: on the way a kind may be that of anything. */
const sorts =
  /(?:^|[.?!]\s{1,4})(?:\w{1,12}\s)?(?:which|what)\s(?:\w{1,20}\s){0,2}(?:kinds|sorts|types|ways|variants|styles|techniques|implementations) (?:of|to)\b/i;
/** A planned change, or what a change does. */
const changed =
  /\b(?:want|plan|like|consider|wish|intend|going) (?:to |of )?(?:add|chang|replac|alter|remov|mov|renam|swap|set)|\bif (?:i|we) chang|\baffected\b|\bwhat\b.{0,80}\bbreaks?\b|\bimpact of\b/i;
/** Words of a program between quotation marks, and that something went wrong. */
const printed = /(?<!\w)["“'‘](?=[^"”\n]{0,120}\s)[^"”\n]{12,400}["”'’](?!\w)/;
/** A question that is a quotation and nothing else gives the message itself. */
const quotation = /^\s*["“'‘](?=[^"”\n]{0,120}\s)[^"”\n]{8,400}["”'’]\s*$/;
const wrong =
  /\b(?:errors?|fail(?:s|ed|ure)?|messages?|logs?|says?|saying|warnings?|dies|stops|refuse[sd]?|crash(?:es|ed)?|get)\b/i;
const decided =
  /\b(?:where|how)\b[^.?!;:]{0,60}\b(?:decided|determined|limits? set|configured)\b|\bwhere are (?:these|the) limits\b/i;

const intents: [Intent, RegExp][] = [
  ['comparison', /\b(?:differen(?:ce|t)|compare[sd]?|versus|vs\.?)\b/i],
  [
    'usage',
    /\b(?:who|what|which|where)\b.{0,80}\b(?:calls?|uses?|used|called|invokes?|invoked)\b|\b(?:callers?|users?|usages?) of\b/i,
  ],
  [
    'definition',
    /\bwhere (?:is|are)\b.{0,120}\b(?:defined|declared|implemented)\b|\bdefinition of\b/i,
  ],
  ['location', /^\s*where\b|\b(?:which|what) (?:file|folder|directory|module)\b/i],
  ['mechanism', /^\s*(?:how|why)\b|\bhow (?:does|do|is|are)\b/i],
  ['definition', /^\s*what (?:is|are|does)\b/i],
];

/** What is asked of a symbol that the question names comes before what its words may mean besides. */
export function intentOf(text: string, asks: Asked | undefined, isNamed: boolean): Intent {
  if ((asks === 'callers' || asks === 'chain') && isNamed) return 'usage';
  if (asks === 'implementations') return 'implementations';
  if (quotation.test(text) || (printed.test(text) && wrong.test(text))) return 'symptom';
  if (several.test(text)) return 'implementations';
  if (changed.test(text)) return 'impact';
  if (sorts.test(text)) return 'implementations';
  if (decided.test(text)) return 'decision';
  if (asks === 'callers') return 'usage';
  return intents.find(([, pattern]) => pattern.test(text))?.[0] ?? 'general';
}
