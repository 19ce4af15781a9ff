import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { type OpenPost, OpenPosts } from "./message-sender.ts";

interface Post extends OpenPost<Post> {}

function post(id: number | undefined): Post {
  return { id, previous: undefined, next: undefined };
}

describe("OpenPosts", () => {
  it("holds what was added and not taken out, in that order, and finds the oldest of an id", () => {
    const step = fc.record({ id: fc.option(fc.nat(3), { nil: undefined }), out: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const open = new OpenPosts<Post>();
        const made: Post[] = [];
        let model: Post[] = [];
        for (const { id, out } of steps) {
          const added = post(id);
          made.push(added);
          model.push(added);
          open.add(added);
          const gone = made[out];
          if (gone !== undefined) {
            open.delete(gone);
            open.delete(gone);
            model = model.filter((one) => one !== gone);
          }
          expect(open.all()).toEqual(model);
          for (const wanted of [0, 1, 2, 3])
            expect(open.find(wanted)).toBe(model.find((one) => one.id === wanted));
          expect(open.find(undefined)).toBeUndefined();
        }
      }),
    );
  });
});
