/** Limit of names that are looked up for one text. */
export const namesMax = 24;

export interface Names {
  symbols: string[];
  /** Files, without line numbers. */
  paths: string[];
  /** There were more than `namesMax`. */
  isCut: boolean;
}

const path = /(?<![\w./-])(?:[\w.-]+\/)*[\w-][\w.-]*\.[A-Za-z]{1,5}(?![\w/])(?::\d+)?/g;
const pathEnding =
  /\.(?:[ch]|cc|cpp|cxx|hpp|hh|ts|tsx|mts|cts|js|jsx|mjs|cjs|py|go|rs|java|md|rst|txt|json|toml|ya?ml|proto|sh)(?::\d+)?$/i;
/** In backticks, called, or written as only names are: products are written LikeThis too, so such names need backticks. */
const symbol =
  /`([A-Za-z_$][\w$]*(?:\.[\w$]+)*)(?:\(\))?`|\b([A-Za-z_$][\w$]*)\(\)|\b([A-Za-z]\w*_\w+|[a-z]+[a-z0-9]*[A-Z]\w*)\b/g;

/** Words of a text that look like names of symbols or files, in order, each once. */
export function namesIn(text: string): Names {
  const paths = [...text.matchAll(path)]
    .map(([found]) => found)
    .filter((each) => pathEnding.test(each));
  // Parts of a path are not symbols.
  const rest = paths.reduce((left, each) => left.replaceAll(each, ' '), text);
  const symbols = [...rest.matchAll(symbol)].map(
    ([, quoted, called, plain]) => quoted ?? called ?? plain ?? '',
  );
  const all = {
    symbols: [...new Set(symbols)],
    paths: [...new Set(paths.map((each) => each.replace(/:\d+$/, '')))],
  };
  return {
    symbols: all.symbols.slice(0, namesMax),
    paths: all.paths.slice(0, namesMax),
    isCut: all.symbols.length > namesMax || all.paths.length > namesMax,
  };
}

const unknownNameForm = /^No symbol ([\w$.]+) is defined or called in the indexed code\./;

/** The question about a name that the index does not know. */
export function unknownNameQuestion(name: string): string {
  return `No symbol ${name} is defined or called in the indexed code. Which one is meant?`;
}

/** The name in such a question; undefined: it is another question. */
export function unknownNameIn(question: string): string | undefined {
  return unknownNameForm.exec(question)?.[1];
}
