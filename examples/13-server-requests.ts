// A server asks in the middle of a call: the person who answers is an object with a few methods.
import { createHost, type Human } from "plugboard";
import { createDemoServer, createMemoryServer } from "plugboard/testing";

const human: Human = {
  async elicit(question) {
    if (question.kind === "url") return { action: "decline" };
    console.log(`${question.serverName} asks: ${question.message}`);
    console.log(question.fields.map(({ title, type }) => `${title} (${type})`).join(", "));
    return { action: "accept", content: { name: "Ada" } };
  },
};

await using host = await createHost({
  config: false,
  servers: { demo: () => createMemoryServer(createDemoServer()).transport },
  human,
});
host.on("request-answered", ({ kind, outcome }) => console.log(`${kind}: ${outcome}`));

const session = host.session({ agent: "main", level: "yolo" });
const { text } = await session.call("mcp__demo__ask_name");
console.log(text);

// Output:
// demo asks: What is your name?
// Name (text)
// elicitation: answered
// Hello, Ada!
