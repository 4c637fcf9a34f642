import { LinearPattern } from '../../base/pattern/linear-pattern.js';
import type { CitationVerdict, CriterionVerdict } from './review.js';
import { errorOverlay, type Criterion, type TaskResponse } from '../task/shapes.js';

/**
 * Checks each criterion on its own. A criterion with a check is met or unmet. One that is only a sentence is `unchecked`: its words in the result prove nothing.
 */
export function checkCriteria(
  criteria: readonly Criterion[],
  response: Pick<TaskResponse, 'result' | 'grounding_evidence'>,
  verdicts: readonly CitationVerdict[],
): CriterionVerdict[] {
  const citations = (response.grounding_evidence?.citations ?? []).filter(
    ({ overlay }, at) => overlay !== errorOverlay && verdicts[at]?.status === 'valid',
  );
  return criteria.map(({ text, check }): CriterionVerdict => {
    const wanted = check === null ? [] : wantsOf(check);
    if (wanted.length === 0) return { text, verdict: 'unchecked', why: 'nothing can check it' };
    const missing = wanted.find((each) => !each.isMet(response.result, citations));
    if (missing === undefined) return { text, verdict: 'met', why: wanted.map(said).join('; ') };
    return { text, verdict: 'unmet', why: `lacks ${missing.what}` };
  });
}

type Citations = NonNullable<TaskResponse['grounding_evidence']>['citations'];

interface Want {
  what: string;
  isMet: (result: string, citations: Citations) => boolean;
}

const said = ({ what }: Want): string => `has ${what}`;

function wantsOf(check: NonNullable<Criterion['check']>): Want[] {
  const { cites_symbol, cites_file, pattern, citations_min } = check;
  const wants: Want[] = [];
  if (cites_symbol !== '')
    wants.push({
      what: `a verified citation that holds ${cites_symbol}`,
      isMet: (_, citations) => citations.some(({ content }) => holds(content, cites_symbol)),
    });
  if (cites_file !== '')
    wants.push({
      what: `a verified citation of ${cites_file}`,
      isMet: (_, citations) =>
        citations.some(({ file_path }) => `/${file_path}`.endsWith(`/${cites_file}`)),
    });
  if (pattern !== '')
    wants.push({
      what: `a result that matches /${pattern}/`,
      isMet: (result) => new LinearPattern(pattern).test(result),
    });
  if (citations_min > 0)
    wants.push({
      what: `${citations_min} verified citations`,
      isMet: (_, citations) => new Set(citations.map(placeOf)).size >= citations_min,
    });
  return wants;
}

/** The same place is one citation, however often it is cited. */
function placeOf({ file_path, line_start, line_end, content }: Citations[number]): string {
  return JSON.stringify(file_path === '' ? [content] : [file_path, line_start, line_end]);
}

/** As a whole word: `free` is not in `kfree`. */
function holds(content: string, symbol: string): boolean {
  const escaped = symbol.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w$])${escaped}(?![\\w$])`).test(content);
}
