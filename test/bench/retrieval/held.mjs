// Does an answer say anything that its evidence does not hold? Pure.

/** What is said of each piece of evidence: `{ sentence, missing }`, `missing` being words that it does not hold. */
export function heldSentences({ evidence }) {
  return evidence.map((each) => {
    const { file_path, line_start, name, container, said } = each;
    const known = new Set(wordsOf(shownBy(each)));
    return {
      sentence: `${file_path}:${line_start} ${name}: ${said}`,
      missing: wordsOf([name, container, said].join(' ')).filter((word) => !known.has(word)),
    };
  });
}

/** Everything that a reader can look up in it. */
function shownBy({ text, content, file_path, line_start, symbol, overlay, section }) {
  return [text, content, file_path, line_start, symbol, overlay, section].join(' ');
}

function wordsOf(text) {
  return (
    String(text)
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu) ?? []
  );
}
