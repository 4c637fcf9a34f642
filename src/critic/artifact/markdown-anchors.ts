/** `{#name}` behind a heading, as Pandoc and others name it. */
const ownName = /\s*\{#([\w:.-]{1,200})[^}]{0,200}\}\s*$/;

/**
 * What `#…` may name: headings by GitHub's rule (lower case, without punctuation, `-` for each blank, `-1` behind the
 * second of the same), and names that HTML gives. Writes each heading's own.
 */
export function anchorsOf(
  headings: readonly { title: string; anchor: string }[],
  text: string,
): ReadonlySet<string> {
  const anchors = new Set<string>();
  const times = new Map<string, number>();
  for (const heading of headings) {
    const [, own] = ownName.exec(heading.title) ?? [];
    const slug = own ?? slugOf(heading.title);
    let anchor = slug;
    let count = times.get(slug) ?? 0;
    while (anchors.has(anchor)) anchor = `${slug}-${(count += 1)}`;
    times.set(slug, count);
    heading.anchor = anchor;
    anchors.add(anchor);
  }
  for (const [, , quoted, bare = ''] of text.matchAll(
    /<[^<>]{0,200}\b(?:id|name)=(?:(["'])([^"'\s]{1,200})\1|([^"'\s<>]{1,200}))/g,
  ))
    anchors.add(quoted ?? bare);
  for (const [, title = ''] of text.matchAll(/<h[1-6][^>]{0,200}>([^<]{1,200})<\/h[1-6]>/gi))
    anchors.add(slugOf(title));
  return anchors;
}

export function slugOf(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}

/** A target of a link without `%20` and the like; as it is written where it is not encoded well. */
export function decoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}
