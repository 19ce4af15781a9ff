import { describe, expect, it } from "vitest";

import { pixel } from "../../tests/fixtures/agent/agent-tools.ts";
import { modelImages } from "./model-images.ts";

describe("images for a model", () => {
  it("are those of image blocks and of embedded resources, in order", () => {
    const content = [
      { type: "text", text: "two images" },
      { type: "image", data: pixel, mimeType: "image/png" },
      { type: "resource", resource: { uri: "file:///a", blob: pixel, mimeType: "image/webp" } },
    ];
    expect(modelImages(content)).toEqual([
      { data: pixel, mediaType: "image/png" },
      { data: pixel, mediaType: "image/webp" },
    ]);
  });

  it.each([
    ["a type that providers refuse", { type: "image", data: pixel, mimeType: "image/svg+xml" }],
    ["a data address", { type: "image", data: `data:,${pixel}`, mimeType: "image/png" }],
    ["text that is cut", { type: "image", data: pixel.slice(1), mimeType: "image/png" }],
    ["no data", { type: "image", mimeType: "image/png" }],
    ["empty data", { type: "image", data: "", mimeType: "image/png" }],
    ["no type", { type: "image", data: pixel }],
    ["a resource of text", { type: "resource", resource: { uri: "file:///a", text: "a" } }],
    ["a resource that is none", { type: "resource", resource: null }],
    ["a sound", { type: "audio", data: pixel, mimeType: "image/png" }],
  ])("are never %s", (_what, block) => {
    expect(modelImages([block])).toEqual([]);
  });
});
