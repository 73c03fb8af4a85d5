// SPDX-License-Identifier: Apache-2.0
// Runs an SQL script repeatedly on a database in memory, and prints the time of each run.
// Usage: java -cp H2.jar Repeat.java SCRIPT [TIMES]

import java.nio.file.Files;
import java.nio.file.Paths;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Locale;

public class Repeat {
    private static void run(Connection connection, String script) throws Exception {
        try (Statement statement = connection.createStatement()) {
            for (String sql : script.split(";")) {
                if (sql.trim().isEmpty() || !statement.execute(sql))
                    continue;
                // Read all rows, because the database computes them only then.
                try (ResultSet rows = statement.getResultSet()) {
                    while (rows.next())
                        rows.getString(1);
                }
            }
        }
    }

    public static void main(String[] words) throws Exception {
        String script = new String(Files.readAllBytes(Paths.get(words[0])), "UTF-8");
        long times = words.length > 1 ? Long.parseLong(words[1]) : Long.MAX_VALUE;
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:repeat")) {
            for (long i = 1; i <= times; i++) {
                long begin = System.nanoTime();
                run(connection, script);
                System.out.printf(Locale.ROOT, "iteration %d %.3f ms%n", i, (System.nanoTime() - begin) / 1e6);
            }
        }
    }
}
