// @ts-check

const dripMs = 25;

/** Answers that never end. @type {Record<string, import("./http-modes.mjs").HttpMode>} */
export const httpTimeModes = {
  /** Never ends the headers; sends nothing at all, or one of them at a time. */
  "slow-headers": ({ how = "silent" }) => ({
    onCall(reply) {
      if (how === "silent") return;
      reply.raw("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n");
      const timer = setInterval(() => reply.raw("x-wait: yes\r\n"), dripMs);
      reply.response.once("close", () => clearInterval(timer));
    },
  }),

  /** Half an answer and then nothing, or blanks for ever. */
  "slow-body": ({ how = "silent" }) => ({
    onCall(reply) {
      reply.begin("application/json");
      reply.response.write(reply.text.slice(0, 20));
      if (how === "drip") reply.drip(dripMs, () => " ");
    },
  }),

  /** Takes connections and headers and no body, from when it is told to until it is told otherwise. */
  "never-read": () => {
    let isReading = true;
    /** @type {(() => void)[]} */
    const postponed = [];
    return {
      onRequest(request, response) {
        if (isReading) return false;
        postponed.push(() => request.once("end", () => response.writeHead(202).end()).resume());
        return true;
      },
      onOrder(order) {
        isReading = order.reads;
        if (isReading) for (const read of postponed.splice(0)) read();
      },
    };
  },
};
