// Keeping text apart: labels along one edge, and one free label near a point.

let context = null;

/** Width of a text in CSS pixels, without asking the page for a layout. */
export function textWidth(text, font) {
  context = context || document.createElement("canvas").getContext("2d");
  context.font = font;
  return context.measureText(text).width;
}

/**
 * Move labels along one edge so that neighbours are at least `gap` apart, each as near to its wish as that allows.
 * Labels that touch form a block, and a block sits where its members' mean displacement is zero.
 * Takes wishes in any order, returns positions in the same order, all within [low, high].
 */
export function spread(wishes, gap, low, high) {
  const order = wishes.map((_, i) => i).sort((a, b) => wishes[a] - wishes[b] || a - b);
  const blocks = [];
  for (const i of order) {
    blocks.push({ start: wishes[i], members: [i] });
    while (blocks.length > 1) {
      const last = blocks[blocks.length - 1];
      const before = blocks[blocks.length - 2];
      if (before.start + before.members.length * gap <= last.start) break;
      blocks.pop();
      before.members.push(...last.members);
      const mean = before.members.reduce((sum, member, rank) => sum + wishes[member] - rank * gap, 0) / before.members.length;
      before.start = mean;
    }
  }
  const placed = new Array(wishes.length);
  let floor = low;
  for (const block of blocks) {
    block.start = Math.max(floor, block.start);
    floor = block.start + block.members.length * gap;
  }
  let ceiling = high + gap;
  for (const block of [...blocks].reverse()) {
    block.start = Math.min(block.start, ceiling - block.members.length * gap);
    ceiling = block.start;
    block.members.forEach((member, rank) => { placed[member] = block.start + rank * gap; });
  }
  return placed;
}

export function overlaps(a, b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** How far a point is from a box. */
const distanceTo = (box, { x, y }) => Math.hypot(Math.max(box.x - x, 0, x - box.x - box.width), Math.max(box.y - y, 0, y - box.y - box.height));

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/**
 * The best place for a box of `size` near `point`: inside `frame`, clear of the boxes in `forbidden`, covering as few
 * of the `marks` (points that should stay visible) as possible, and clearly nearer to `point` than to any of the `rivals`,
 * as far as that goes. Earlier candidates win ties, so the label does not hop about.
 */
export function placeNear(point, size, frame, forbidden, marks, rivals = []) {
  const { width, height } = size;
  let best = null;
  const consider = (x, y, distance) => {
    const box = { x, y, width, height };
    const inside = x >= frame.x && y >= frame.y && x + width <= frame.x + frame.width && y + height <= frame.y + frame.height;
    if (!inside || forbidden.some((other) => overlaps(box, other))) return;
    const covered = marks.filter((mark) => overlaps(box, { x: mark.x - 4, y: mark.y - 4, width: 8, height: 8 })).length;
    const astray = Math.max(0, ...rivals.map((rival) => 1.4 * distanceTo(box, point) - distanceTo(box, rival)));
    const cost = covered * 10 + distance / 10 + astray * 100;
    if (best === null || cost < best.cost) best = { x, y, cost };
  };
  for (const distance of [14, 30, 54, 86, 130]) {
    const right = point.x + distance;
    const left = point.x - distance - width;
    const above = point.y - distance - height;
    const below = point.y + distance;
    const candidates = [
      [right, below - 4], [left, above + 4], [right, point.y - height / 2], [point.x - width / 2, below],
      [left, below - 4], [right, above + 4], [point.x - width / 2, above], [left, point.y - height / 2],
      [clamp(point.x - width / 2, frame.x, frame.x + frame.width - width), below],
    ];
    for (const [x, y] of candidates) consider(x, y, distance);
  }
  // A narrow frame: nowhere around the point, so anywhere that is free.
  const crowded = best === null;
  for (let i = 0; crowded && i < 64; i += 1) {
    const [x, y] = [frame.x + ((i % 8) / 7) * (frame.width - width), frame.y + (Math.floor(i / 8) / 7) * (frame.height - height)];
    consider(x, y, Math.hypot(x + width / 2 - point.x, y + height / 2 - point.y));
  }
  if (best !== null) return best;
  return {
    x: clamp(point.x + 14, frame.x, frame.x + frame.width - width),
    y: clamp(point.y + 14, frame.y, frame.y + frame.height - height),
  };
}
