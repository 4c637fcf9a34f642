/** Where a drawing stands in its box: a point of it is at `x + scale × its x`. */
export interface View {
  x: number;
  y: number;
  scale: number;
}

export interface Point {
  x: number;
  y: number;
}

export interface Disc extends Point {
  radius: number;
}

export const scaleMin = 0.1;
export const scaleMax = 4;
/** What is fitted does not become larger than it is: names of a few shards would fill the box. */
const fitScaleMax = 1.5;
const margin = 40;

/** Larger or smaller, while what is at this point of the box stays there. */
export function zoomed(view: View, by: number, at: Point): View {
  const scale = Math.min(scaleMax, Math.max(scaleMin, view.scale * by));
  const ratio = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio };
}

/** All of it, as large as the box has room for. */
export function fitted(discs: readonly Disc[], box: { width: number; height: number }): View {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y, radius } of discs) {
    left = Math.min(left, x - radius);
    right = Math.max(right, x + radius);
    top = Math.min(top, y - radius);
    bottom = Math.max(bottom, y + radius);
  }
  if (left > right) return { x: box.width / 2, y: box.height / 2, scale: 1 };
  const across = (box.width - 2 * margin) / Math.max(1, right - left);
  const down = (box.height - 2 * margin) / Math.max(1, bottom - top);
  const scale = Math.min(fitScaleMax, Math.max(scaleMin, Math.min(across, down)));
  return {
    x: box.width / 2 - (scale * (left + right)) / 2,
    y: box.height / 2 - (scale * (top + bottom)) / 2,
    scale,
  };
}

/** A point of the box in the drawing. */
export function within(view: View, { x, y }: Point): Point {
  return { x: (x - view.x) / view.scale, y: (y - view.y) / view.scale };
}

/** The disc that is drawn there, of several the last. */
export function discAt<Its extends Disc>(discs: readonly Its[], { x, y }: Point): Its | undefined {
  return discs.findLast((each) => Math.hypot(each.x - x, each.y - y) <= each.radius);
}
