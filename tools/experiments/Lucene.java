// SPDX-License-Identifier: Apache-2.0
// Indexes generated documents in memory and searches them, repeatedly, and prints the time of each run.
// Usage: java -cp lucene-core.jar Lucene.java [TIMES]

import java.util.Locale;
import java.util.Random;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

public class Lucene {
    private static final int DOCUMENTS = 1500;
    private static final int WORDS = 200;
    private static final int QUERIES = 300;

    // As in a language, few words are frequent and many are rare.
    private static String word(Random random) {
        return "w" + (int) Math.exp(random.nextDouble() * 9);
    }

    private static void run() throws Exception {
        Random random = new Random(1);
        try (ByteBuffersDirectory directory = new ByteBuffersDirectory()) {
            IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
            config.setMergeScheduler(new SerialMergeScheduler());
            try (IndexWriter writer = new IndexWriter(directory, config)) {
                for (int i = 0; i < DOCUMENTS; i++) {
                    StringBuilder text = new StringBuilder();
                    for (int j = 0; j < WORDS; j++)
                        text.append(word(random)).append(' ');
                    Document document = new Document();
                    document.add(new TextField("text", text.toString(), Field.Store.NO));
                    writer.addDocument(document);
                }
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                for (int i = 0; i < QUERIES; i++)
                    searcher.search(new TermQuery(new Term("text", word(random))), 10);
            }
        }
    }

    public static void main(String[] words) throws Exception {
        long times = words.length > 0 ? Long.parseLong(words[0]) : Long.MAX_VALUE;
        for (long i = 1; i <= times; i++) {
            long begin = System.nanoTime();
            run();
            System.out.printf(Locale.ROOT, "iteration %d %.3f ms%n", i, (System.nanoTime() - begin) / 1e6);
        }
    }
}
