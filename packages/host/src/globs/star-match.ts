/**
 * Whether a list fits a pattern in which some parts stand for any number of elements. Only the latest of those is ever
 * tried again, which is enough: no part meets an element twice, so a pattern that somebody made to be slow is not.
 */
export function fitsWithStars<Part, Element>(
  pattern: readonly Part[],
  list: ArrayLike<Element>,
  isStar: (part: Part) => boolean,
  fitsOne: (part: Part, element: Element) => boolean,
): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let retry = 0;
  while (place < list.length) {
    const part = pattern[at];
    // The loop stays within the list.
    const element = list[place] as Element;
    if (part !== undefined && isStar(part)) {
      star = at;
      retry = place;
      at += 1;
    } else if (part !== undefined && fitsOne(part, element)) {
      at += 1;
      place += 1;
    } else if (star !== -1) {
      at = star + 1;
      retry += 1;
      place = retry;
    } else return false;
  }
  return pattern.slice(at).every(isStar);
}
