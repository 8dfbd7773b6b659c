// Answers, for each text of a file, what JSON.stringify(JSON.parse(text)) gives.
// Texts and answers are framed by their length as a little-endian u32; 0xffffffff says that JSON.parse threw.
import { readFileSync, writeFileSync } from "node:fs";

const [, , textsPath, answersPath] = process.argv;
const texts = readFileSync(textsPath);
const answers = [];
for (let at = 0; at < texts.length; ) {
  const length = texts.readUInt32LE(at);
  const text = texts.toString("utf8", at + 4, at + 4 + length);
  at += 4 + length;
  const frame = Buffer.alloc(4);
  try {
    const answer = Buffer.from(JSON.stringify(JSON.parse(text)));
    frame.writeUInt32LE(answer.length);
    answers.push(frame, answer);
  } catch {
    frame.writeUInt32LE(0xffffffff);
    answers.push(frame);
  }
}
writeFileSync(answersPath, Buffer.concat(answers));
