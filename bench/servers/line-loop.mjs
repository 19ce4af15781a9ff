/**
 * Answers the lines of stdin. One write per chunk read: answering must cost less than asking, or the
 * server is what is measured.
 *
 * @param {import("./echo-answers.mjs").Answer} answer
 */
export function answerLines(answer) {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    let answers = "";
    for (const line of lines) {
      const json = answer(line);
      if (json !== undefined) answers += `${json}\n`;
    }
    if (answers !== "") process.stdout.write(answers);
  });
}
