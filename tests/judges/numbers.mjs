/** Numbers, always the same after a seed (a linear congruence). */
export class Numbers {
  constructor(seed) {
    this.state = (seed * 2654435761 + 12345) >>> 0;
    for (let warming = 0; warming < 8; warming += 1) this.below(2);
  }

  below(bound) {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * bound);
  }

  oneIn(bound) {
    return this.below(bound) === 0;
  }

  of(list) {
    return list[this.below(list.length)];
  }
}
